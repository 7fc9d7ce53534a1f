export const TABS = [
  'overview',
  'config',
  'methods',
  'security',
  'limits',
  'upstream',
  'differences',
  'json',
  'test',
  'requests',
  'activity',
  'settings',
] as const;
export type Tab = (typeof TABS)[number];
export const TAB_LABELS: Record<Tab, string> = {
  overview: 'Overview',
  config: 'Config',
  methods: 'Methods',
  security: 'Security',
  limits: 'Limits',
  upstream: 'Upstream',
  differences: 'Differences',
  json: 'JSON',
  test: 'Test',
  requests: 'Requests',
  activity: 'Activity',
  settings: 'Settings',
};
/** Tabs whose fields belong to one environment and are saved together. */
export const EDITED: ReadonlySet<Tab> = new Set<Tab>(['config', 'methods', 'security', 'limits', 'upstream', 'differences', 'json']);
/** Tabs that are there whether or not the chosen environment is served. */
export const OF_THE_ROUTE: ReadonlySet<Tab> = new Set<Tab>(['requests', 'activity', 'settings']);
