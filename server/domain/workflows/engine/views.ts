import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { DecryptFailed } from '#server/crypto/svt1.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { type NodeValue, openValue } from './values.ts';

type Row = {
  id: string;
  node_id: string;
  node_name: string;
  node_type: string;
  status: string;
  attempt: number;
  iteration: number | null;
  path: string;
  handles: string[];
  started_at: Date | null;
  completed_at: Date | null;
  duration_ms: number | null;
  error_code: string | null;
  error_message: string | null;
  truncated: boolean;
};
type Sealed = { value_ct: Uint8Array | null; cek_wrapped: Uint8Array | null; tmk_version: number | null };
export type NodeRunView = Row & { input: unknown; output: unknown };

/** The runs of nodes as `/v1` and pages show them: opens what is sealed. @throws Refusal tenant_sealed */
export const nodeRunViews = (ctx: Pick<Ctx, 'tenant_id' | 'sandbox'>, rows: readonly (Row & Sealed)[]): Promise<NodeRunView[]> =>
  Promise.all(
    rows.map(async ({ value_ct, cek_wrapped, tmk_version, ...row }) => {
      if (!value_ct || !cek_wrapped || tmk_version === null) return { ...row, input: null, output: null };
      const { input, output } = await openValue<NodeValue>(ctx, { id: row.id, value_ct, cek_wrapped, tmk_version }).catch(whenSealed);
      return { ...row, input: input ?? null, output: output ?? null };
    }),
  );

function whenSealed(error: unknown): never {
  if (error instanceof TenantKeyUnavailable || error instanceof DecryptFailed)
    throw new Refusal('tenant_sealed', "This workspace's encryption key is unavailable. Try again later.", { cause: error });
  throw error;
}
