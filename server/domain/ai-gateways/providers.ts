import { needsSecret, PROVIDERS } from '#server/ai/providers/catalogue.ts';

/** Every provider that an agent can be composed for. */
export const listProviders = () =>
  PROVIDERS.map((provider) => {
    const { id, label, origin, defaultModel, shapes, door } = provider;
    return {
      id,
      label,
      needs_upstream: origin === null,
      default_upstream: origin,
      needs_secret: needsSecret(provider),
      needs_default_model: defaultModel === null,
      shapes: [...new Set([...shapes, ...door])],
      default_model: defaultModel,
    };
  });
