'use client';

import { type ReactNode, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { Callout } from './callout.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { Input } from './input.tsx';
import { Skeleton } from './skeleton.tsx';

export type ConfirmDangerProps = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** A question that names the thing: "Delete route payments?" */
  title: ReactNode;
  /** What will happen, one line each, as the server computed it; undefined while it is being asked. */
  consequences: readonly ReactNode[] | undefined;
  /** The verb on the button: "Delete route". */
  confirmLabel: string;
  /** For an action that is itself called canceling. */
  cancelLabel?: string;
  /** In Live this must be typed when given. In Test it never is. */
  resourceName?: string;
  space: 'live' | 'test';
  onConfirm: () => void | Promise<void>;
  busy?: boolean;
  error?: { message: string; request_id?: string | undefined } | undefined;
  /** Why it cannot be done now, e.g. still in use. */
  blockedReason?: string | undefined;
  /** What the fields in `children` still need before it can be confirmed. */
  missing?: string | undefined;
  children?: ReactNode;
};

/** Asks before something is lost, and says what. Focus starts on the field or on Cancel, never on the destructive button. */
export function ConfirmDanger(props: ConfirmDangerProps) {
  const {
    open,
    onOpenChange,
    title,
    consequences,
    confirmLabel,
    cancelLabel = 'Cancel',
    resourceName,
    space,
    onConfirm,
    busy,
    error,
    blockedReason,
    missing,
    children,
  } = props;
  const [typed, setTyped] = useState('');
  const [wasOpen, setWasOpen] = useState(open);
  // A name typed for one thing must not be there when the dialog opens for another.
  if (open !== wasOpen) {
    setWasOpen(open);
    setTyped('');
  }
  const field = useRef<HTMLInputElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const mustType = space === 'live' && resourceName !== undefined;
  const reason =
    blockedReason ??
    missing ??
    (consequences === undefined
      ? 'Checking what this affects…'
      : mustType && typed !== resourceName
        ? `Type ${resourceName} to confirm`
        : undefined);
  const confirm = () => void (reason === undefined && !busy && onConfirm());
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={title}
      initialFocus={mustType && !blockedReason ? field : cancel}
      footer={
        <>
          <Button ref={cancel} onClick={() => onOpenChange(false)}>
            {cancelLabel}
          </Button>
          <Button variant="danger" loading={busy} disabledReason={reason} onClick={confirm}>
            {confirmLabel}
          </Button>
        </>
      }
    >
      <Consequences lines={consequences} />
      {children}
      {mustType && !blockedReason && (
        <Field
          label={
            <>
              Type <code className="rounded-xs bg-subtle px-1 py-0.5 font-mono text-xs">{resourceName}</code> to confirm
            </>
          }
        >
          <Input
            ref={field}
            mono
            value={typed}
            autoComplete="off"
            onChange={(event) => setTyped(event.target.value)}
            onKeyDown={(event) => event.key === 'Enter' && confirm()}
          />
        </Field>
      )}
      {error && <Callout tone="bad" title={error.message} requestId={error.request_id} />}
    </Dialog>
  );
}

function Consequences({ lines }: { lines: readonly ReactNode[] | undefined }) {
  if (!lines) return <Skeleton lines={2} label="Checking what this affects" />;
  return (
    <ul className="flex flex-col gap-1.5 text-ink-2">
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list is computed once and never reordered.
        <li key={index} className="flex gap-2 before:mt-2 before:size-1 before:keep-fill before:shrink-0 before:rounded-full before:bg-bad">
          <span className="min-w-0">{line}</span>
        </li>
      ))}
    </ul>
  );
}
