export const TABS = ['overview', 'config', 'access', 'test', 'requests', 'analytics', 'activity', 'settings'] as const;
export type Tab = (typeof TABS)[number];
export const TAB_LABELS: Record<Tab, string> = {
  overview: 'Overview',
  config: 'Configuration',
  access: 'Access',
  test: 'Test',
  requests: 'Requests',
  analytics: 'Analytics',
  activity: 'Activity',
  settings: 'Settings',
};

/** The views of the Configuration tab. */
export const VIEWS = ['form', 'json', 'differences'] as const;
export type View = (typeof VIEWS)[number];

/** Earlier names of sections, still found in links. */
const SECTIONS: Readonly<Record<string, Tab>> = {
  methods: 'access',
  security: 'access',
  limits: 'access',
  upstream: 'config',
  fields: 'config',
  json: 'config',
  differences: 'config',
};

/** The tab an address asks for; null for an unknown one. */
export const tabOf = (text: string): Tab | null =>
  (TABS as readonly string[]).includes(text) ? (text as Tab) : Object.hasOwn(SECTIONS, text) ? (SECTIONS[text] ?? null) : null;

/** Tabs whose fields belong to one environment and are saved together. */
export const EDITED: ReadonlySet<Tab> = new Set<Tab>(['config', 'access']);
/** Tabs that are there whether or not the chosen environment is served. */
export const OF_THE_ROUTE: ReadonlySet<Tab> = new Set<Tab>(['requests', 'analytics', 'activity', 'settings']);
