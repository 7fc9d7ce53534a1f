import type { Snippet } from '#components/ui/code-block.tsx';
import { quoted } from './curl.ts';

/** A request of the Management API as a command of service-cli, which brings the address and the credential itself. */
export function cliOf(method: string, path: string, body?: object): Snippet {
  const data = body === undefined ? '' : ` --data ${quoted(JSON.stringify(body))}`;
  return { id: 'cli', label: 'CLI', language: 'bash', code: `service-cli api ${method} ${quoted(path)}${data}` };
}
