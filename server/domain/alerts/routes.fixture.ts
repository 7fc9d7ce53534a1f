import type { Ctx } from '#server/kernel/context.ts';
import { fresh, made } from '#server/testing/factories.ts';

/** A route to have calls of. */
export const routeOf = async (ctx: Ctx): Promise<{ id: string; name: string }> => {
  const { samples } = await import('#server/domain/routes/samples.fixture.ts');
  const input = await (samples['routes.create'] as (ctx: Ctx) => Promise<Record<string, unknown>>)(ctx);
  return made(ctx, 'routes.create', { ...input, name: fresh('route') });
};
