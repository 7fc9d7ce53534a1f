/** The text without the given characters at its end. `/x+$/` tries every position of every run of x, which is quadratic in text that a caller chose. */
export function trimEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1] as string)) end--;
  return text.slice(0, end);
}
