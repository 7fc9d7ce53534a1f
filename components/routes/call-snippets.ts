import { codeOf } from '#components/shell/call-code.ts';
import type { Snippet } from '#components/ui/code-block.tsx';
import type { CallSnippet } from './addressing.ts';

/** A GET through the gateway, as one would write it in each language. */
export const callSnippets = ({ url, headers }: CallSnippet): readonly [Snippet, ...Snippet[]] => codeOf({ method: 'GET', url, headers });
