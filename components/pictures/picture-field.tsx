'use client';

import { useState } from 'react';
import { Avatar } from '#components/ui/avatar.tsx';
import { lazyOverlay } from '#components/ui/lazy.tsx';
import type { PictureProps } from './picture-editor.tsx';

// Few visits change a picture, and none in the first second.
const PictureEditor = lazyOverlay(
  () => import('./picture-editor.tsx').then((module) => module.PictureEditor),
  () => false,
);

/** A picture of a person or workspace, and the way to another. */
export function PictureField(props: PictureProps) {
  /** What was sent and is looked at, but not used yet. */
  const [sent, setSent] = useState<string>();
  return (
    <div className="flex min-h-24 flex-wrap items-center gap-x-5 gap-y-3">
      <Avatar name={props.name} picture={sent ?? props.picture} round={props.noun === 'photo'} className="size-20 text-2xl" />
      <PictureEditor {...props} sent={sent} onSent={setSent} />
    </div>
  );
}
