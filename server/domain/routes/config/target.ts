import type { Ctx } from '#server/kernel/context.ts';
import { isEchoUrl } from '#server/kernel/echo-origin.ts';
import { invalid } from '#server/kernel/errors.ts';
import { egress } from '#server/platform/egress.ts';
import { checkTargetUrl } from '#server/platform/http-out/target-url.ts';

/**
 * Judges a base URL a caller gave, DNS included, so call it before the transaction; a name that does not resolve is a warning
 * (interface rules 10 §4.3, 12 §9). @throws Refusal validation_error
 */
export async function checkTarget(ctx: Ctx, field: string, url: string | null | undefined): Promise<void> {
  if (!url || isEchoUrl(url)) return;
  const verdict = await checkTargetUrl(url, egress());
  if (!verdict.ok) throw invalid(field, verdict.message);
  ctx.warnings.push(...verdict.warnings);
}
