/** Something that calls routes in the name of an API key, or of the OAuth client that mirrors it. `type` is the one of its audit entries. */
export type Acting = { type: 'workflow' | 'inbound_webhook'; id: string; name: string };

const NOUNS: Record<Acting['type'], string> = { workflow: 'workflow', inbound_webhook: 'inbound webhook' };
const MOST_NAMED = 3;

/** As a part of a sentence: `workflow Nightly, inbound webhook github and 4 more`. */
export function namesOf(acting: readonly Acting[]): string {
  const named = acting.slice(0, MOST_NAMED).map(({ type, name }) => `${NOUNS[type]} ${name}`);
  const more = acting.length - named.length;
  const parts = more > 0 ? [...named, `${more} more`] : named;
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : parts.join('');
}
