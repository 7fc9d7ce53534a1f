import { codeOf } from '#components/shell/call-code.ts';
import type { Snippet } from '#components/ui/code-block.tsx';

type Library = { script_url: string; integrity: string };

/** The import map makes the browser refuse a script of any other content. */
const importMap = ({ script_url, integrity }: Library): string =>
  `<script type="importmap">
  { "integrity": { "${script_url}": "${integrity}" } }
</script>`;

const page = (library: Library, body: string): Snippet => ({
  id: 'browser',
  label: 'Browser',
  language: 'text',
  code: `${importMap(library)}
<script type="module">
${body
  .split('\n')
  .map((line) => (line ? `  ${line}` : line))
  .join('\n')}
</script>`,
});

/** How a value is sealed, in a page and by the API. */
export function sealingSnippets(library: Library, apiUrl: string, bundle: object): readonly [Snippet, ...Snippet[]] {
  const body = `import { SvcEncryptor } from '${library.script_url}';

const bundle = ${JSON.stringify(bundle)};
const encryptor = new SvcEncryptor(bundle, 'pci');
const sealed = await encryptor.encrypt('4242424242424242');`;
  const call = {
    method: 'POST',
    url: `${apiUrl}/encrypt`,
    headers: { Authorization: 'Bearer $SALLYPORT_KEY' },
    body: { data: { card: { number: '4242424242424242' } }, role: 'pci', selectors: ['$.card.number'] },
  };
  return [page(library, body), ...codeOf(call)];
}

/** A card form in three lines. */
export const cardSnippet = (library: Library, workspace: string): Snippet =>
  page(
    library,
    `import { mountCard } from '${library.script_url}';
const { ciphertext, last4 } = await mountCard('#card', { workspace: '${workspace}' });
await fetch('/pay', { method: 'POST', body: JSON.stringify({ card: ciphertext.number, last4 }) });`,
  );

/** The same into a vault, with a client token that the backend has minted. */
export const tokenSnippet = (library: Library, workspace: string): Snippet => ({
  ...page(
    library,
    `import { mountCard } from '${library.script_url}';
const client = await fetch('/client-token').then((response) => response.json());
const { token, last4 } = await mountCard('#card', { token: client.token, workspace: '${workspace}' });
await fetch('/pay', { method: 'POST', body: JSON.stringify({ card: token, last4 }) });`,
  ),
  id: 'token',
  label: 'Into a vault',
});

/** A value that only the person in front of the page sees. */
export const revealSnippet = (library: Library, workspace: string): Snippet => ({
  ...page(
    library,
    `import { mountReveal } from '${library.script_url}';
const client = await fetch('/client-token').then((response) => response.json());
await mountReveal('#number', { token: client.token, data: client.data, workspace: '${workspace}' });`,
  ),
  id: 'reveal',
  label: 'Reveal',
});
