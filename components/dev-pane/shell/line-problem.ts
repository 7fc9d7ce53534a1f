/** Why a line cannot be carried out, and what to type instead. */
export class LineProblem extends Error {
  readonly next: string | undefined;
  constructor(message: string, next?: string) {
    super(message);
    this.name = 'LineProblem';
    this.next = next;
  }
}

export const didYouMean = (meant: string | undefined) => (meant ? `Did you mean \`${meant}\`?` : undefined);

/** Of a word nobody knows, which may be anything, no more than a name has. */
export const shortly = (word: string) => (word.length > 24 ? `${word.slice(0, 8)}…` : word);
