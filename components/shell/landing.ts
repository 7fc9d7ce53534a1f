/** The path of a page to begin on, below workspace and space; the ids are those of the navigation. */
export const landingPath = (page: string): string => (page === 'home' ? '' : `/${page}`);
