import type { Capability } from '#server/kernel/capabilities.ts';

export type Action = { id: string; title: string; path: string; needs: Capability };

/** What one can set out to do from anywhere. */
export const ACTIONS: readonly Action[] = [
  { id: 'create-route', title: 'Create route', path: '/routes?create=true', needs: 'route:create' },
  { id: 'create-secret', title: 'Create secret', path: '/secrets?open=new', needs: 'secret:create' },
  { id: 'import-env', title: 'Import a .env file as secrets', path: '/secrets?open=env', needs: 'secret:create' },
  { id: 'create-client', title: 'Create client', path: '/clients?open=new', needs: 'client:create' },
  { id: 'create-environment', title: 'Create environment', path: '/environments?edit=new', needs: 'environment:create' },
  { id: 'create-collection', title: 'Create collection', path: '/collections?create=true', needs: 'collection:create' },
  { id: 'create-key', title: 'Create API key', path: '/api-keys?open=new', needs: 'api_key:create' },
  { id: 'import', title: 'Import curl or OpenAPI', path: '/import', needs: 'route:create' },
];

/** Things done to one resource that the rest of the text names: "rotate key build". */
export const DEEDS: readonly { verb: RegExp; type: 'api_key' | 'secret'; title: (name: string) => string; needs: Capability }[] = [
  {
    verb: /^(?:rotate|revoke)(?:\s+(?:api\s+)?keys?)?(?:\s+|$)/i,
    type: 'api_key',
    title: (name) => `Rotate or revoke key ${name}`,
    needs: 'api_key:create',
  },
  {
    verb: /^(?:rotate|change|set)(?:\s+(?:value|secrets?))*(?:\s+|$)/i,
    type: 'secret',
    title: (name) => `Set a new value for ${name}`,
    needs: 'secret:update',
  },
];

/** Actions whose every word begins a word of the text: "cr rou" is Create route. */
export function actionsLike(text: string): Action[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  return ACTIONS.filter(({ title }) => {
    const words = title
      .toLowerCase()
      .replace(/^create/, 'create new add')
      .split(/[\s.]+/);
    return wanted.every((part) => words.some((word) => word.startsWith(part)));
  });
}
