import { isVariable, quoted } from '#components/shell/curl.ts';
import type { Snippet } from '#components/ui/code-block.tsx';
import type { RoutedCall } from './addressing.ts';

/** A call of a route as a command of service-cli, which brings the credential itself. None for a body that it can't carry. */
export function cliCall(reference: string, environment: string | undefined, call?: RoutedCall): Snippet[] {
  const { method = 'GET', path = '/', headers = {}, body, body_options } = call ?? {};
  if (body_options !== undefined || body?.startsWith('@') || body === '-') return [];
  const usual = body === undefined ? 'GET' : 'POST';
  const own = Object.entries(headers).filter(([name, value]) => !isVariable(name, value));
  const parts = [
    `service-cli call ${quoted(reference)} ${quoted(path)}`,
    ...(method === usual ? [] : [`-X ${quoted(method)}`]),
    ...(environment ? [`--environment ${quoted(environment)}`] : []),
    ...own.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data ${quoted(body)}`]),
  ];
  return [{ id: 'cli', label: 'CLI', language: 'bash', code: parts.join(parts.length > 2 ? ' \\\n  ' : ' ') }];
}
