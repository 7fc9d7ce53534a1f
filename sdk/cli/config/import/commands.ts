import type { Command } from 'commander';
import { stringify } from 'yaml';
import { CliError } from '../../exit.ts';
import type { Shared } from '../../shared.ts';
import { plain, type Terminal } from '../../terminal.ts';
import { configurationOf } from '../check.ts';
import { writeDocument } from '../document-output.ts';
import { parseText, readFiles } from '../files.ts';
import { fromKong } from './kong.ts';
import { fromOpenApi } from './openapi.ts';
import type { Imported } from './source.ts';

type Flags = { json?: boolean; output?: string };

/** `import kong` and `import openapi`: other descriptions as a configuration file. Nothing is sent anywhere. */
export function addImportCommands(program: Command, { terminal }: Shared): void {
  const group = program.command('import').description('Make a configuration file from another product’s. Says what it leaves out.');
  add(group, 'kong', 'Routes, limits and headers of a declarative file of Kong (decK).', fromKong, terminal);
  add(group, 'openapi', 'A route for each server of an OpenAPI 3 description.', fromOpenApi, terminal);
}

function add(group: Command, name: string, description: string, convert: (value: unknown) => Imported, terminal: Terminal): void {
  group
    .command(name)
    .description(description)
    .argument('<file>', 'YAML or JSON, or - for standard input')
    .option('-o, --output <file>', 'write to this file (default: standard output)')
    .action(async (file: string, _flags, command: Command) => {
      const [source] = await readFiles([file], terminal);
      const { warnings, ...lists } = convert(source?.value);
      if (Object.values(lists).every((list) => list.length === 0)) {
        for (const warning of warnings) terminal.error(`${terminal.style.yellow('Left out:')} ${plain(warning)}`);
        throw new CliError(`${file} has nothing that can be imported.`);
      }
      const document = { format: 1, ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0)) };
      // What apply would refuse is told now, with the place in what was made.
      configurationOf([parseText('imported', stringify(document))]);
      for (const warning of warnings) terminal.error(`${terminal.style.yellow('Warning:')} ${plain(warning)}`);
      writeDocument(document, command.optsWithGlobals<Flags>(), terminal, warnings);
    });
}
