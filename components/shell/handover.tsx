'use client';

import { useState } from 'react';
import { CreatedCard } from '#components/api-keys/created-card.tsx';
import { dropHanded, stored, useHanded } from '#components/trpc/handover.ts';
import { useScope } from '#components/trpc/provider.tsx';
import { onceOnly, ShownOnce, type ShownOnceProps } from '#components/ui/shown-once.tsx';

/** What a call answered that is shown once, over whatever page is open by then. */
export function Handover() {
  const { person } = useScope();
  const handed = useHanded(person);
  // The card fades out with its words, and without the value.
  const [words, setWords] = useState({ name: 'value', from: '' });
  if (handed && (handed.name !== words.name || handed.from !== words.from)) setWords({ name: handed.name, from: handed.from });
  const label = words.name.replaceAll('_', ' ').replace(/\b(?:api|pem|scim)\b/g, (word) => word.toUpperCase());
  const onGone: ShownOnceProps['onGone'] = (why) => (handed && why === 'stored' ? stored(handed) : dropHanded());
  return (
    <>
      <CreatedCard created={handed?.made && { ...handed.made, api_key: handed.value }} from={words.from} onGone={onGone} />
      <ShownOnce
        value={handed?.made ? undefined : handed?.value}
        title={`Save your ${label}`}
        label={label}
        filename={`${words.name}.txt`}
        description={`${words.from} ${onceOnly(label)}`}
        onGone={onGone}
      />
    </>
  );
}
