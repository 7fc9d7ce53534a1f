import http from 'node:http';
import { parseArgs } from 'node:util';
import { type commands, options, perform } from '../scripts/admin-commands.ts';

// The operator's commands for the journeys, one process for all of them: each as a process of its own loads what it needs for half a second first.
// `scripts/admin.test.ts` types them. Listens on the socket it is given, takes the arguments as JSON, answers with what the command prints.

const [socket] = process.argv.slice(2);
const server = http.createServer(async (req, res) => {
  try {
    const args = JSON.parse(Buffer.concat(await req.toArray()).toString()) as string[];
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
    const answer = await perform(positionals[0] as keyof typeof commands, values);
    res.end(JSON.stringify(answer));
  } catch (error) {
    res.writeHead(400).end(error instanceof Error ? error.message : String(error));
  }
});
server.listen(socket, () => process.send?.('ready'));
process.on('disconnect', () => process.exit(0));
