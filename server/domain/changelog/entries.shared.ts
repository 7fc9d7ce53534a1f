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
    id: 'shell',
    date: '2026-11-22',
    areas: ['dashboard'],
    title: 'A shell in the developer pane',
    text: 'Every call of the API can be typed as a line, such as routes list, with completion of commands, flags and the names of your own things. It runs as you, in the space you are in. Secrets are asked for unseen, and nothing of them is shown or kept.',
    act: null,
    link: { label: 'Open the dashboard', path: '/' },
  },
  {
    id: 'ignored-fields',
    date: '2026-11-22',
    areas: ['api'],
    title: 'Ignored fields are named',
    text: 'A field that a call of the API does not know is ignored as before, and now named in meta.warnings of the answer, so that a misspelt filter or setting is seen; a name that could be a key or a password is counted and not repeated. Where a secret’s value would have gone to another environment than meant (environment_name, base_environment or env in place of environment), the call is refused.',
    act: 'If meta.warnings names a field, look up how the call spells it.',
    link: { label: 'OpenAPI document', path: '/openapi.json' },
  },
  {
    id: 'pictures',
    date: '2026-11-22',
    areas: ['dashboard'],
    title: 'Photos and logos',
    text: 'You can show your photo to the members of your workspaces, and a workspace its logo. Both stand on top of every page and in the audit log. Of a picture nothing but its pixels is kept: where and with what it was taken is not.',
    act: null,
    link: { label: 'Choose a photo', path: '/me/profile' },
  },
  {
    id: 'inspector',
    date: '2026-11-22',
    areas: ['dashboard'],
    title: 'Paste any id',
    text: 'The developer pane has an inspector: paste an id from a log, a mail or a ticket, and it says what it is and leads there. Of a pasted credential nothing leaves the page.',
    act: null,
    link: { label: 'Open the dashboard', path: '/' },
  },
  {
    id: 'saved-examples',
    date: '2026-11-22',
    areas: ['dashboard'],
    title: 'Examples in the tester',
    text: 'A request that was tried on a route is kept with it, together with what its answer must hold: status, time, a header, a text or a value of the JSON. One press runs one of them, or all. No credential is ever kept.',
    act: null,
    link: { label: 'Open the dashboard', path: '/' },
  },
  {
    id: 'collections-in-view',
    date: '2026-11-22',
    areas: ['dashboard'],
    title: 'Collections at a glance',
    text: 'The card of a collection tells how its routes did today and who answers for it. Routes, clients and secrets can be listed by collection and moved from one to another, with the keyboard or by dragging.',
    act: null,
    link: { label: 'Open the dashboard', path: '/' },
  },
  {
    id: 'changelog',
    date: '2026-11-22',
    areas: ['dashboard'],
    title: 'What is new, in one place',
    text: 'This list: as a page, in the dashboard under Help, and as an RSS feed. Help is marked while there is something you have not seen.',
    act: null,
    link: { label: 'RSS feed', path: '/changelog.xml' },
  },
  {
    id: 'arranged-dashboard',
    date: '2026-11-22',
    areas: ['dashboard'],
    title: 'Arrange the dashboard',
    text: 'Pin up to six pages to the top of the navigation, fold and move its groups, and hide and move the cards of Home. All of it is yours alone, in every workspace and browser.',
    act: null,
    link: { label: 'Preferences', path: '/me/preferences' },
  },
  {
    id: 'api-2026-08-05',
    date: '2026-08-05',
    areas: ['api'],
    title: 'API version 2026-08-05',
    text: 'The first public version of the Management API. A call that names no version gets the newest one, which is this; the answer names it in the header Service-Version.',
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
