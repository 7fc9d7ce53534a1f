import { call } from '#server/testing/calls.ts';

// A second web process: asked for the manifest with a key, it says what it answered.

process.on('message', async ({ key, tag }: { key: string; tag?: string }) => {
  const { status, headers } = await call('GET', '/wrap/intercept-manifest', { key, ...(tag ? { headers: { 'if-none-match': tag } } : {}) });
  process.send?.({ status, etag: headers.get('etag') });
});
process.send?.('ready');
