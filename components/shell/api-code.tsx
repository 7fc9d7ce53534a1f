'use client';

import { useScope } from '#components/trpc/provider.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { codeOf } from './call-code.ts';
import { cliOf } from './cli.ts';

export type ApiEquivalentProps = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the API's base, e.g. `/routes`. */
  path: string;
  body?: object;
  /** It takes an access token: API keys are refused. */
  oauth?: boolean;
};

/** A call of the API, written down in each language. */
export function ApiCode({ method, path, body, oauth }: ApiEquivalentProps) {
  const { api_url } = useScope();
  const credential = oauth ? '$SALLYPORT_TOKEN' : '$SALLYPORT_KEY';
  const snippets = codeOf({ method, url: `${api_url}${path}`, headers: { Authorization: `Bearer ${credential}` }, body });
  const cli = path.startsWith('/admin') ? [] : [cliOf(method, path, body)];
  return <CodeBlock snippets={[...snippets, ...cli]} className="rounded-t-none border-0 border-line-strong border-t" />;
}
