/** What an entry concerns. A name enters this list with the first entry that has it. */
export const CHANGELOG_AREAS = ['api', 'dashboard'] as const;
export type ChangelogArea = (typeof CHANGELOG_AREAS)[number];

export type ChangelogEntry = {
  /** Never changes: readers remember it, and addresses end in it. */
  id: string;
  /** The day it was released, YYYY-MM-DD. */
  date: string;
  areas: readonly ChangelogArea[];
  title: string;
  text: string;
  /** Who must do what; null: nobody has to do anything. */
  act: string | null;
  /** Where it is to be seen: an address of this host. */
  link: { label: string; path: string };
};

/** What changed for the people who use the service, newest first (interface rule 64 §9). Every version of the API has its entry. */
export const CHANGELOG: readonly ChangelogEntry[] = [
  {
    id: 'documentation',
    date: '2026-11-22',
    areas: ['api', 'dashboard'],
    title: 'Documentation in the product',
    text: 'Quickstart, concepts, every resource with its API reference, and every error type are at /docs, under Help and in the command palette. Each page has a Markdown version, and /llms.txt lists them all.',
    act: null,
    link: { label: 'Read the docs', path: '/docs' },
  },
  {
    id: 'key-expiry',
    date: '2026-11-22',
    areas: ['api'],
    title: 'Every API key can expire',
    text: 'Standard and test keys take expires_at, expires_in_days or never_expires, like access keys. A key that expires passes its expiry on to the keys it creates.',
    act: null,
    link: { label: 'API keys', path: '/docs/api-keys' },
  },
  {
    id: 'shell',
    date: '2026-11-22',
    areas: ['dashboard'],
    title: 'Shell in the developer pane',
    text: 'Type any API call as a command, such as routes list, with completion for commands, flags and the names of your resources. The shell runs as you, in the current space. Secret values are entered without being shown, and are never stored.',
    act: null,
    link: { label: 'Open the dashboard', path: '/' },
  },
  {
    id: 'ignored-fields',
    date: '2026-11-22',
    areas: ['api'],
    title: 'Unknown fields are reported',
    text: 'The API still ignores unknown fields, but now lists them in meta.warnings so that misspelled filters and settings don’t go unnoticed. Names that could be a key or a password are counted, not repeated. A call that would have set a secret’s value in the wrong environment (environment_name, base_environment or env instead of environment) is refused.',
    act: 'If meta.warnings names a field, check its spelling in the API reference.',
    link: { label: 'OpenAPI document', path: '/openapi.json' },
  },
  {
    id: 'pictures',
    date: '2026-11-22',
    areas: ['dashboard'],
    title: 'Photos and logos',
    text: 'Show your photo to the members of your workspaces, and add a logo to a workspace. Both appear at the top of every page and in the audit log. Only the pixels of a picture are kept: location and camera data are removed.',
    act: null,
    link: { label: 'Choose a photo', path: '/me/profile' },
  },
  {
    id: 'inspector',
    date: '2026-11-22',
    areas: ['dashboard'],
    title: 'Look up any ID',
    text: 'The developer pane has an inspector. Paste an ID from a log, an email or a ticket to see what it is and open it. A pasted credential never leaves the page.',
    act: null,
    link: { label: 'Open the dashboard', path: '/' },
  },
  {
    id: 'saved-examples',
    date: '2026-11-22',
    areas: ['dashboard'],
    title: 'Saved examples in the tester',
    text: 'Save a test request with its route, together with checks on the response: status, time, a header, a text or a JSON value. Run one example or all of them. Credentials are never saved.',
    act: null,
    link: { label: 'Open the dashboard', path: '/' },
  },
  {
    id: 'collections-in-view',
    date: '2026-11-22',
    areas: ['dashboard'],
    title: 'Collections at a glance',
    text: 'Each collection card shows today’s traffic and the owners. List routes, clients and secrets by collection, and move them between collections with the keyboard or by dragging.',
    act: null,
    link: { label: 'Open the dashboard', path: '/' },
  },
  {
    id: 'changelog',
    date: '2026-11-22',
    areas: ['dashboard'],
    title: 'What’s new, in one place',
    text: 'This list is available as a page, in the dashboard under Help, and as an RSS feed. Help shows a mark while there is something new.',
    act: null,
    link: { label: 'RSS feed', path: '/changelog.xml' },
  },
  {
    id: 'arranged-dashboard',
    date: '2026-11-22',
    areas: ['dashboard'],
    title: 'Customize the dashboard',
    text: 'Pin up to six pages to the top of the navigation, collapse and move its groups, and hide and move the cards on Home. Your layout is yours alone, in every workspace and browser.',
    act: null,
    link: { label: 'Preferences', path: '/me/preferences' },
  },
  {
    id: 'api-2026-08-05',
    date: '2026-08-05',
    areas: ['api'],
    title: 'API version 2026-08-05',
    text: 'The first public version of the Management API. Calls without a version use the newest one, which is this one. Responses name the version in the Service-Version header.',
    act: null,
    link: { label: 'OpenAPI document', path: '/openapi.json' },
  },
];

/**
 * How many entries a person has not seen: those above the one seen last, or, when none was, those released after the person came.
 * Whoever joins today has missed nothing.
 */
export function unreadEntries(seen: string | null, since: Date, entries: readonly ChangelogEntry[] = CHANGELOG): number {
  const at = entries.findIndex(({ id }) => id === seen);
  return at === -1 ? entries.filter(({ date }) => Date.parse(date) > since.getTime()).length : at;
}
