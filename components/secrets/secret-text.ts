/** `a, b ,, c` or one a line, as a list without blanks and repeats. */
export const listOf = (text: string): string[] => [
  ...new Set(
    text
      .split(/[,\n]/)
      .map((part) => part.trim())
      .filter(Boolean),
  ),
];

/** The placeholder that names a secret by its name. */
export const shortcodeByName = (name: string) => `{{secret:${name}}}`;
