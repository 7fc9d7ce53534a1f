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
