import { navigation } from './navigation.ts';

const pages = navigation.flatMap((group) => group.items);

/** The pages that can be pinned to the top of the rail. Home always stands there. */
export const pinnablePages = pages.filter(({ group }) => group !== 'home');

/** The pages the dashboard can open on, in the order they are offered. */
export const startPages = pages.filter((page) => page.landing !== undefined).toSorted((a, b) => (a.landing ?? 0) - (b.landing ?? 0));

/** The path of a start page, below workspace and space; that of Home for a page this release doesn't have. */
export const startPath = (id: string): string => startPages.find((page) => page.id === id)?.path ?? '';

/** Leaves out the pages that this release doesn't have: the server stores page ids without knowing which pages exist. */
export function withKnownPages<T extends { pins: string[]; home_page: string }>(preferences: T): T {
  const { pins, home_page } = preferences;
  return {
    ...preferences,
    pins: pins.filter((id) => pinnablePages.some((page) => page.id === id)),
    home_page: startPages.some((page) => page.id === home_page) ? home_page : 'home',
  };
}
