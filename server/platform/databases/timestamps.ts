/** `YYYY-MM-DD HH:MM:SS+00`, as placeholders of statements have it (interface rule 44 §4.2). */
export const sqlTime = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')}+00`;
