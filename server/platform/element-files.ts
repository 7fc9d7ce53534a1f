import fs from 'node:fs';
import path from 'node:path';
import { createIntegrity } from '#server/crypto/integrity.ts';
import { processState } from '#server/kernel/process-state.ts';

// The scripts and the style of hosted fields (`sdk/elements`), made by scripts/elements.ts and served from memory.

const FOLDER = 'server/generated/elements';
export type ElementFileName = 'seal.js' | 'card.js' | 'reveal.js' | 'fields.css';

export type ElementFile = {
  plain: Buffer;
  br: Buffer | undefined;
  gzip: Buffer | undefined;
  /** Of `plain`, as browsers check it: `sha384-…`. */
  integrity: string;
  /** The first of its digest: changes with the content. */
  version: string;
};

const files = processState('element-files', () => new Map<ElementFileName, ElementFile>());

/** Reads a file once a process: what is served until the next start. */
export function elementFile(name: ElementFileName): ElementFile {
  const known = files.get(name);
  if (known) return known;
  const file = path.join(FOLDER, name);
  const plain = fs.readFileSync(file);
  const compressed = (ending: string) => (fs.existsSync(file + ending) ? fs.readFileSync(file + ending) : undefined);
  const integrity = createIntegrity(plain);
  const version = integrity
    .slice('sha384-'.length)
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(0, 16);
  const found = { plain, br: compressed('.br'), gzip: compressed('.gz'), integrity, version };
  files.set(name, found);
  return found;
}
