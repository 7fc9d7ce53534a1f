/** Pages a person may begin on: of a space, by their ids in the navigation. */
export const LANDING_PAGES = ['home', 'routes', 'secrets', 'clients', 'logs', 'audit'] as const;

/** Pages that can stand on top of the rail, by the same ids; Home always does. */
export const PINNABLE_PAGES = [
  'routes',
  'collections',
  'clients',
  'environments',
  'import',
  'promote',
  'secrets',
  'logs',
  'audit',
  'api-keys',
  'explorer',
  'quickstart',
  'workspace',
  'roles',
  'usage',
  'versions',
  'keys',
] as const;
export const PINS_AT_MOST = 6;

/** Groups of the rail that fold and move. */
export const RAIL_GROUPS = ['gateway', 'secrets', 'observe', 'developers', 'settings'] as const;

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
