import type { Command } from 'commander';
import { CliError } from './exit.ts';
import { dataOf } from './operation-input.ts';
import { printAnswer } from './output.ts';
import { type Chosen, openSession } from './session.ts';
import type { Shared } from './shared.ts';

/** Any request, as the dashboard writes them down beside its forms; also for operations that this copy has no command for yet. */
export function addApiCommand(program: Command, { terminal }: Shared): void {
  program
    .command('api')
    .description('Send a request to the Management API by its method and path.')
    .argument('<method>', 'GET, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'path below /v1, with its query')
    .option('-d, --data <json>', 'the body as JSON, @file or - for standard input')
    .option('-y, --yes', 'don’t ask for confirmation of a DELETE')
    .action(async (given: string, path: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Chosen & { data?: string; yes?: boolean; json?: boolean }>();
      const method = given.toUpperCase();
      if (!/^(?:GET|POST|PUT|PATCH|DELETE)$/.test(method)) throw new CliError(`${given} is not a method of this API.`);
      if (!/^\/[^\\]*$/.test(path) || /(?:^|\/)\.\.?(?:[/?#]|$)/.test(path))
        throw new CliError('The path starts with / and has no "." or ".." in it.');
      const { sallyport } = openSession(terminal, flags);
      const body = await dataOf(flags.data, terminal);
      if (method === 'DELETE' && !flags.yes) {
        if (!terminal.canAsk) throw new CliError('DELETE needs --yes where nobody can be asked.');
        if (!/^y(?:es)?$/i.test((await terminal.ask(`DELETE ${path}. Continue? [y/N] `)).trim()))
          throw new CliError('Nothing was changed.');
      }
      const answer = await sallyport.request(method, path, { ...(body === undefined ? {} : { body }), signal: terminal.signal });
      printAnswer(answer, flags.json === true, terminal);
    });
}
