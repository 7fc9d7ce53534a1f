/** The looks that a combobox has before and after its code is there. */
export const singleStyle = 'field-surface flex h-8 w-full items-center';
export const multiStyle = 'field-surface flex min-h-8 w-full flex-wrap items-center gap-1 p-1';
export const chipStyle =
  'inline-flex h-6 max-w-full items-center gap-0.5 rounded-sm border border-line-strong bg-subtle pl-1.5 text-xs data-highlighted:border-accent-line data-highlighted:bg-accent-soft';
