'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Download, RotateCw } from 'lucide-react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { saveJson } from '#components/ui/save-json.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

/** The key that seals when a call names none. Its public half may be anywhere. */
export function KeyCard() {
  const trpc = useTRPC();
  const path = usePath();
  const cache = useQueryClient();
  const bundle = useQuery(trpc.encryption.bundle.queryOptions({}));
  const forbidden = useForbidden('transit:rotate');
  const rotate = useMutation(
    trpc.cryptoKeys.rotate.mutationOptions({
      onSuccess: ({ new_version }) => {
        notifyDone(`Version ${new_version} is active. Earlier versions still open what they sealed.`);
        void cache.invalidateQueries(trpc.encryption.bundle.pathFilter());
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  const { data } = bundle;
  const ref = data?.key_ref;
  return (
    <SectionCard
      title="Default key"
      description="Seals when no key is named. Pages with an older bundle keep working after a rotation."
      footer={
        ref && (
          <>
            <Button size="sm" icon={<Download />} onClick={() => saveJson(data, 'sealing-bundle.json')}>
              Download bundle
            </Button>
            <Button
              size="sm"
              icon={<RotateCw />}
              loading={rotate.isPending}
              disabledReason={forbidden}
              onClick={() => rotate.mutate({ name: ref.app_key_id })}
            >
              Rotate
            </Button>
          </>
        )
      }
    >
      {bundle.isError ? (
        <QueryError query={bundle} what="The default key" />
      ) : !data || !ref ? (
        <Skeleton lines={4} label="Loading the default key" />
      ) : (
        <KeyValueList
          items={[
            {
              label: 'Name',
              value: (
                <Link className={textLink} href={path(`/crypto/${ref.app_key_id}`)}>
                  kc-default
                </Link>
              ),
            },
            { label: 'Version', value: String(ref.key_version) },
            { label: 'Public key', value: `${data.public_key_raw.slice(0, 18)}…`, copy: data.public_key_raw },
            { label: 'Bundle', value: 'Copy JSON', copy: JSON.stringify(data), hint: 'Nothing in it is secret.' },
          ]}
        />
      )}
    </SectionCard>
  );
}
