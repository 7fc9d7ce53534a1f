import { readFile } from 'node:fs/promises';

/** The committed `public/openapi.json`: the same bytes that the public path serves (interface rule 70 §11). */
export const openApiFile = (): Promise<string> => readFile('public/openapi.json', 'utf8');
