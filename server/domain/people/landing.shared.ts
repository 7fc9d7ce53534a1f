/** Pages a person may begin on: of a space, by their ids in the navigation. */
export const LANDING_PAGES = ['home', 'routes', 'secrets', 'clients', 'logs', 'audit'] as const;
