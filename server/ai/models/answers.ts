/** The format of a list of models: by the path and headers of the request. */
export type ModelsFormat = 'openai' | 'anthropic' | 'gemini';

/** The answer to GET models, built from the policy without asking the provider (spec/51 §10.2). `created` is when the agent was. */
export function modelList(format: ModelsFormat, models: readonly string[], owner: string, created: Date): object {
  const data = models.map((id) => modelEntry(format, id, owner, created));
  if (format === 'openai') return { object: 'list', data };
  if (format === 'gemini') return { models: data };
  return { data, has_more: false, first_id: models[0] ?? null, last_id: models.at(-1) ?? null };
}

/** The answer to GET models/{id}. */
export function modelEntry(format: ModelsFormat, id: string, owner: string, created: Date): object {
  if (format === 'openai') return { id, object: 'model', created: Math.floor(created.getTime() / 1_000), owned_by: owner };
  if (format === 'anthropic') return { type: 'model', id, display_name: id, created_at: created.toISOString() };
  return {
    name: `models/${id}`,
    displayName: id,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens', 'embedContent'],
  };
}
