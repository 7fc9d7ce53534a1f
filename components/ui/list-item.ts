/** One look for rows of selects, comboboxes, menus and the palette. */
export const listItem =
  'flex min-h-8 w-full cursor-default select-none items-center gap-2 rounded-sm px-2 py-1 text-left text-ink text-sm outline-none data-disabled:cursor-not-allowed data-highlighted:bg-pressed/70 data-disabled:text-ink-3 [&_svg]:shrink-0';
