import { PROVIDERS } from '#server/ai/providers/catalogue.ts';

/** Every provider that an agent can be composed for. */
export const listProviders = () =>
  PROVIDERS.map(({ id, label, origin, defaultModel, shapes, door }) => ({
    id,
    label,
    needs_upstream: origin === null,
    needs_default_model: defaultModel === null,
    shapes: [...new Set([...shapes, ...door])],
    default_model: defaultModel,
  }));
