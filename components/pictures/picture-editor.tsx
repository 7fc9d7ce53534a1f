import { useMutation } from '@tanstack/react-query';
import { ImageUp, Trash2 } from 'lucide-react';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { usePersonCall } from '#components/me/person-calls.ts';
import { MutationError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { cn } from '#components/ui/cn.ts';
import { fitting } from './resize-image.ts';

export type PictureProps = {
  /** As people call it. */
  noun: 'photo' | 'logo';
  name: string;
  /** The id of the one that is shown now. */
  picture: string | null;
  /** Makes an upload the picture, or takes it down. */
  onUse: (upload: string | null) => Promise<unknown>;
  /** Why this person may not change it. */
  forbidden?: string | undefined;
};

type Props = PictureProps & { sent: string | undefined; onSent: (upload: string | undefined) => void };

/** Choose, drop or paste a picture, look at what became of it, and use it; or take the present one down. */
export function PictureEditor({ noun, picture, onUse, forbidden, sent, onSent }: Props) {
  const call = usePersonCall();
  const input = useRef<HTMLInputElement>(null);
  const upload = useMutation({
    mutationFn: async (file: File) => call<{ upload_id: string }>('POST', '/auth/avatars', await fitting(file)),
    onMutate: () => use.reset(),
    onSuccess: ({ upload_id }) => onSent(upload_id),
  });
  const use = useMutation({
    mutationFn: onUse,
    onSuccess: () => onSent(undefined),
    onError: (error) => {
      // It was used or has expired: only another one can help. After a lost connection the same one is tried again.
      if (UNUSABLE.has(refusalOf(error).code)) onSent(undefined);
    },
  });
  const closed = Boolean(forbidden) || upload.isPending || use.isPending;
  const take = (files: FileList | undefined | null) => {
    const file = files?.[0];
    if (file && !closed) upload.mutate(file);
  };
  const over = useDropped(take) && !closed;
  return (
    <div className="flex min-w-0 flex-1 basis-64 flex-col gap-2">
      <input
        ref={input}
        type="file"
        accept="image/png,image/jpeg,image/webp"
        hidden
        onChange={({ target }) => {
          take(target.files);
          // The same file can be chosen again.
          target.value = '';
        }}
      />
      <div className="flex flex-wrap gap-2">
        {sent ? (
          <>
            <Button variant="primary" loading={use.isPending} onClick={() => use.mutate(sent)}>
              Save {noun}
            </Button>
            <Button onClick={() => onSent(undefined)}>Cancel</Button>
          </>
        ) : (
          <>
            <Button icon={<ImageUp />} loading={upload.isPending} disabledReason={forbidden} onClick={() => input.current?.click()}>
              Upload {noun}
            </Button>
            {picture && (
              <Button
                icon={<Trash2 />}
                variant="danger-quiet"
                loading={use.isPending}
                disabledReason={forbidden}
                onClick={() => use.mutate(null)}
              >
                Remove
              </Button>
            )}
          </>
        )}
      </div>
      <p role="status" className={cn('text-xs', over ? 'font-medium text-ink' : 'text-ink-3')}>
        {over ? 'Drop to upload.' : sent ? `Preview. Save to use this ${noun}.` : (forbidden ?? HINT)}
      </p>
      <MutationError error={upload.error ?? use.error} />
    </div>
  );
}

const UNUSABLE = new Set(['validation_error', 'invalid']);
const HINT = 'PNG, JPEG or WebP. You can also drop or paste one. It is cropped to a square and its metadata is removed.';

/** Files that are dropped or pasted anywhere on the page; true while some are held over it. */
function useDropped(take: (files: FileList | undefined | null) => void): boolean {
  const [over, setOver] = useState(false);
  const taken = useEffectEvent(take);
  useEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    const hover = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      // Otherwise the browser would leave the page for the picture.
      event.preventDefault();
      setOver(true);
    };
    const drop = (event: DragEvent) => {
      setOver(false);
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      taken(event.dataTransfer.files);
    };
    window.addEventListener('dragover', hover, { signal });
    window.addEventListener('dragleave', ({ relatedTarget }) => relatedTarget === null && setOver(false), { signal });
    window.addEventListener('drop', drop, { signal });
    window.addEventListener('paste', ({ clipboardData }) => taken(clipboardData?.files), { signal });
    return () => listening.abort();
  }, []);
  return over;
}
