'use client';

import { useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { callAuth, go } from './call.ts';

type Workspace = { id: string; slug: string; name: string };

/** For people whose workspace was deleted: it comes back with everything in it. */
export function RestoreWorkspace({ workspace: { id, slug, name }, csrf }: { workspace: Workspace; csrf: string }) {
  const [state, setState] = useState<{ busy: boolean; problem?: string }>({ busy: false });
  const restore = async () => {
    setState({ busy: true });
    const answer = await callAuth(`/auth/workspaces/${id}/restore`, {}, csrf);
    if (answer.ok) return go(`/${slug}`);
    setState({ busy: false, problem: answer.refusal.message });
  };
  return (
    <Callout
      title={`${name} was deleted`}
      className="mb-6"
      actions={
        <Button size="sm" loading={state.busy} onClick={restore}>
          Restore {name}
        </Button>
      }
    >
      {state.problem ?? 'You can restore it with everything in it, keys included.'}
    </Callout>
  );
}
