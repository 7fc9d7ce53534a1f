'use client';

import { useState } from 'react';
import { dropHanded, stored, useHanded } from '#components/trpc/handover.ts';
import { useScope } from '#components/trpc/provider.tsx';
import { ShownOnce } from '#components/ui/shown-once.tsx';

/** What a call of the shell or the explorer answered that is shown once, over whatever page is open by then. */
export function Handover() {
  const { person } = useScope();
  const handed = useHanded(person);
  // The card fades out with its words, and without the value.
  const [words, setWords] = useState({ name: 'value', from: '' });
  if (handed && (handed.name !== words.name || handed.from !== words.from)) setWords({ name: handed.name, from: handed.from });
  const label = words.name.replaceAll('_', ' ').replace(/\b(?:api|pem)\b/g, (word) => word.toUpperCase());
  return (
    <ShownOnce
      value={handed?.value}
      title={`Store the ${label} now`}
      label={label}
      filename={`${words.name}.txt`}
      description={`${words.from} This is the only time the ${label} is shown. We keep no copy that could be shown again.`}
      onGone={(why) => (handed && why === 'stored' ? stored(handed) : dropHanded())}
    />
  );
}
