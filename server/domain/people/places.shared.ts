/** The most pages a person may pin to the top of the rail. */
export const PINS_AT_MOST = 6;

/** Groups of the rail that fold and move. */
export const RAIL_GROUPS = ['gateway', 'secrets', 'data', 'ai', 'automation', 'observe', 'developers', 'settings'] as const;

/** Cards of Home, in the order they come in until a person moves them: those of the main column, then those beside it. */
export const HOME_CARDS = [
  'figures',
  'traffic',
  'attention',
  'errors',
  'calls',
  'go_live',
  'busiest',
  'countries',
  'checklist',
  'usage',
  'changelog',
  'activity',
] as const;
