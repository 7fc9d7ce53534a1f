import type { Command } from 'commander';
import type { Shared } from '../../shared.ts';
import type { Flags, Format } from './run.ts';

/** `import kong` and `import openapi`: other descriptions as a configuration file. Nothing is sent anywhere. */
export function addImportCommands(program: Command, { terminal }: Shared): void {
  const group = program.command('import').description('Make a configuration file from another product’s. Says what it leaves out.');
  const add = (format: Format, description: string) =>
    group
      .command(format)
      .description(description)
      .argument('<file>', 'YAML or JSON, or - for standard input')
      .option('-o, --output <file>', 'write to this file (default: standard output)')
      .action(async (file: string, _flags, command: Command) => {
        const { importFile } = await import('./run.ts');
        await importFile(format, file, command.optsWithGlobals<Flags>(), terminal);
      });
  add('kong', 'Routes, limits and headers of a declarative file of Kong (decK).');
  add('openapi', 'A route for each server of an OpenAPI 3 description.');
}
