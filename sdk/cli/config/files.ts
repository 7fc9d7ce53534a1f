import fs from 'node:fs';
import path from 'node:path';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { isExact } from '#server/kernel/lossless-json.ts';
import { CliError } from '../exit.ts';
import type { Terminal } from '../terminal.ts';
import { fromYaml } from '../yaml.ts';

/** One parsed file. `lineOf` finds the line of a member, for messages. */
export type ParsedFile = { file: string; value: unknown; lineOf: (path: readonly (string | number)[]) => number | undefined };

/** More than a thousand routes with long templates. A larger file belongs into several. */
const MOST_BYTES = 5 * 1024 * 1024;
const MOST_FILES = 500;
const MOST_DEPTH = 40;
const NEVER_NAMES = new Set(['__proto__', 'constructor', 'prototype']);

/** Reads files, folders (their .yaml, .yml and .json files by name, not those below) and `-` for standard input. @throws CliError */
export async function readFiles(given: readonly string[], terminal: Terminal): Promise<ParsedFile[]> {
  const parsed: ParsedFile[] = [];
  for (const one of given) {
    if (one === '-') parsed.push(parseText('standard input', limited('standard input', await terminal.readInput())));
    else for (const file of filesOf(one)) parsed.push(parseText(file, readText(file)));
  }
  return parsed;
}

function filesOf(given: string): string[] {
  const stat = tried(given, () => fs.statSync(given));
  if (!stat.isDirectory()) return [given];
  const names = tried(given, () => fs.readdirSync(given)).filter((name) => /\.(?:ya?ml|json)$/i.test(name) && !name.startsWith('.'));
  if (names.length === 0)
    throw new CliError(`${given} has no .yaml, .yml or .json file.`, { next_step: 'Name a file, or a folder that has some.' });
  if (names.length > MOST_FILES) throw new CliError(`${given} has more than ${MOST_FILES} files.`);
  return names.sort().map((name) => path.join(given, name));
}

/** The text of a file of at most `MOST_BYTES`; its size is looked at before it is read. @throws CliError */
export function readText(file: string): string {
  const stat = tried(file, () => fs.statSync(file));
  if (!stat.isFile()) throw new CliError(`${file} is not a file.`);
  if (stat.size > MOST_BYTES) throw tooLarge(file);
  return tried(file, () => fs.readFileSync(file, 'utf8'));
}

function limited(file: string, text: string): string {
  if (text.length > MOST_BYTES) throw tooLarge(file);
  return text;
}

const tooLarge = (file: string) =>
  new CliError(`${file} is larger than ${MOST_BYTES / 1024 / 1024} MiB.`, { next_step: 'Split it into several files of one folder.' });

function tried<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new CliError(`${file} can't be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** YAML 1.2 or JSON, which is YAML too. No part of the text is in a message: it may hold secrets. @throws CliError */
export function parseText(file: string, text: string): ParsedFile {
  const lines = new LineCounter();
  let document: Document.Parsed;
  let value: unknown;
  try {
    const options = { prettyErrors: false, uniqueKeys: true, stringKeys: true, resolveKnownTags: false, logLevel: 'silent' } as const;
    document = parseDocument(text, { ...options, lineCounter: lines });
    const problem = document.errors[0];
    if (problem) {
      const { line } = lines.linePos(problem.pos[0]);
      throw new CliError(`${file}:${line} is not valid YAML or JSON (${problem.code.toLowerCase().replaceAll('_', ' ')}).`);
    }
    value = fromYaml(document);
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (error instanceof SyntaxError) throw new CliError(`${file} has a number that is none.`);
    // Nested too deeply for the parser, or aliases that multiply.
    const aliases = error instanceof ReferenceError;
    throw new CliError(`${file} ${aliases ? 'repeats its aliases too often, or names one that it has not' : 'is nested too deeply'}.`);
  }
  const lineOf = (at: readonly (string | number)[]) => {
    for (let length = at.length; length > 0; length--) {
      const node = document.getIn(at.slice(0, length), true) as { range?: [number, number, number] } | undefined;
      if (node?.range) return lines.linePos(node.range[0]).line;
    }
    return undefined;
  };
  refuseHostile(file, value);
  return { file, value, lineOf };
}

function refuseHostile(file: string, root: unknown): void {
  const visit = (value: unknown, depth: number): void => {
    if (depth > MOST_DEPTH) throw new CliError(`${file} is nested deeper than ${MOST_DEPTH} levels.`);
    if (typeof value !== 'object' || value === null || isExact(value)) return;
    for (const [name, one] of Object.entries(value)) {
      if (NEVER_NAMES.has(name)) throw new CliError(`${file} has a member called ${name}, which no configuration has.`);
      visit(one, depth + 1);
    }
  };
  visit(root, 0);
}
