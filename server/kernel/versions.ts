/** The dated minor versions of /v1, oldest first; each later one would carry transforms down to the one before (interface rule 64 §7). */
export const VERSIONS = [{ version: '2026-08-05', released_at: '2026-08-05', summary: 'First public version.' }] as const;
export const NEWEST: string = VERSIONS.at(-1)!.version;
