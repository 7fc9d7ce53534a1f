import { asDoubles } from '#server/kernel/lossless-json.ts';
import { CliError } from '../../exit.ts';
import { plain, type Terminal } from '../../terminal.ts';
import { toYaml } from '../../yaml.ts';
import { configurationOf } from '../check.ts';
import { writeDocument } from '../document-output.ts';
import { parseText, readFiles } from '../files.ts';
import { fromKong } from './kong.ts';
import { fromOpenApi } from './openapi.ts';

const CONVERTERS = { kong: fromKong, openapi: fromOpenApi };
export type Format = keyof typeof CONVERTERS;
export type Flags = { json?: boolean; output?: string };

/** Writes what a file of another product becomes, and says what it leaves out. @throws CliError when nothing is left */
export async function importFile(format: Format, file: string, flags: Flags, terminal: Terminal): Promise<void> {
  const [source] = await readFiles([file], terminal);
  const { warnings, ...lists } = CONVERTERS[format](asDoubles(source?.value));
  for (const warning of warnings) terminal.error(`${terminal.style.yellow('Warning:')} ${plain(warning)}`);
  const filled = Object.entries(lists).filter(([, list]) => list.length > 0);
  if (filled.length === 0) throw new CliError(`${file} has nothing that can be imported.`);
  const document = { format: 1, ...Object.fromEntries(filled) };
  // What apply would refuse is told now, with the place in what was made.
  configurationOf([parseText('imported', toYaml(document))]);
  writeDocument(document, flags, terminal, warnings);
}
