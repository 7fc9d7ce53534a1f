'use client';

import { Eye, EyeOff } from 'lucide-react';
import { usePathname } from 'next/navigation';
import { type FormEvent, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Button, LinkButton } from './button.tsx';
import { Callout } from './callout.tsx';
import { copySecret } from './clipboard.ts';
import { cn } from './cn.ts';
import { Field } from './field.tsx';
import { Input } from './input.tsx';
import { counted } from './numbers.ts';
import { type RevealRefusal, revealProblem } from './reveal-refusal.ts';
import { Scroll } from './scroll.tsx';

/** What a reveal answers. `left`: how many the person has in this window, where the answer says so. */
export type Revealed = { value: string; left?: number | undefined };

export type RevealFieldProps = {
  /** What is revealed, in words: "value of STRIPE_KEY in production". */
  label: string;
  /**
   * Asks for the value. Call the server directly, never through a query or mutation cache: nothing but this field may hold the answer. Rejects with
   * an error whose `data` is the refusal. A verification is asked for by the shared dialog on the way.
   */
  reveal: (reason?: string) => Promise<Revealed>;
  /** Why it cannot be revealed, known before asking. */
  disabledReason?: string | undefined;
  /** For values of many lines. */
  tall?: boolean;
  className?: string;
};

const SHOWN_SEC = 30;
const CLIPBOARD_MS = 60_000;
const FEW = 10;
/** The same for every value: their number says nothing about its length. */
const DOTS = '••••••••••••';

/**
 * A stored value behind dots (interface rule 32 §7). It stands in the page for 30 seconds at most, and in nothing but the page: no state, no cache.
 * Hiding the tab or leaving the page takes it away at once.
 */
export function RevealField({ label, reveal, disabledReason, tall, className }: RevealFieldProps) {
  const { box, shown, left_sec, show, hide, copy } = useShownValue();
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<RevealRefusal>();
  const [left, setLeft] = useState<number>();
  const wait = useCountdown(refusal?.code === 'reveal_budget_exceeded' ? refusal.retry_after : undefined);
  const button = useRef<HTMLButtonElement>(null);

  const ask = async (reason?: string) => {
    setBusy(true);
    setRefusal(undefined);
    try {
      const answer = await reveal(reason);
      setLeft(answer.left);
      show(answer.value);
    } catch (error) {
      const refused = refusalIn(error);
      if (!refused.cancelled) setRefusal(refused);
    }
    setBusy(false);
  };
  return (
    <div className={cn('flex min-w-0 flex-col gap-2', className)}>
      <div className="flex min-w-0 flex-wrap items-center gap-2">
        {/* Empty but for the value itself, which React must not know. */}
        <Scroll
          as="pre"
          aria-label={label}
          hidden={!shown}
          className={cn(
            'min-w-0 max-w-full overflow-auto whitespace-pre-wrap break-all rounded-md border border-line-strong bg-subtle px-2.5 py-1.5 font-mono text-xs',
            tall ? 'max-h-120' : 'max-h-48',
          )}
        >
          <code ref={box} />
        </Scroll>
        {!shown && (
          <span className="font-mono text-ink-3 tracking-wider">
            <span aria-hidden>{DOTS}</span>
            <span className="sr-only">Hidden</span>
          </span>
        )}
        {shown ? (
          <>
            <CopySecret copy={copy} label={label} />
            <Button size="sm" icon={<EyeOff />} onClick={() => hide(button)}>
              Hide
            </Button>
          </>
        ) : (
          <Button
            ref={button}
            size="sm"
            icon={<Eye />}
            loading={busy}
            disabledReason={disabledReason ?? (wait > 0 ? `Available in ${counted(wait, 'second')}` : undefined)}
            onClick={() => void ask()}
          >
            Reveal<span className="sr-only"> {label}</span>
          </Button>
        )}
      </div>
      <p role="status" className={cn('text-ink-3 text-xs', !shown && 'sr-only')}>
        {shown && (
          <>
            <span className="sr-only">Shown for {SHOWN_SEC} seconds.</span>
            <span aria-hidden>Hides in {left_sec} s.</span>
            {left !== undefined && left < FEW && <> {counted(left, 'reveal')} left in 5 minutes.</>}
          </>
        )}
      </p>
      {refusal && <Refused refusal={refusal} wait={wait} busy={busy} onReason={(reason) => void ask(reason)} />}
    </div>
  );
}

/** Holds a value outside of React: in a text node while it is shown, and nowhere afterwards. */
function useShownValue() {
  const box = useRef<HTMLElement>(null);
  const held = useRef('');
  const [shown, setShown] = useState(false);
  const [left_sec, setLeftSec] = useState(SHOWN_SEC);
  const drop = useCallback(() => {
    held.current = '';
    if (box.current) box.current.textContent = '';
    setShown(false);
  }, []);
  useLayoutEffect(() => {
    if (shown && box.current) box.current.textContent = held.current;
  }, [shown]);
  // A field that goes takes its value along, even when its own parent is kept by a router.
  useEffect(() => drop, [drop]);
  useEffect(() => {
    if (!shown) return;
    const until = Date.now() + SHOWN_SEC * 1000;
    const tick = setInterval(() => {
      const rest = Math.ceil((until - Date.now()) / 1000);
      setLeftSec(Math.max(0, rest));
      if (rest <= 0) drop();
    }, 250);
    const watch = () => document.hidden && drop();
    document.addEventListener('visibilitychange', watch);
    // Also runs when the page goes into the back-forward cache, where the value would come back to life.
    window.addEventListener('pagehide', drop);
    return () => {
      clearInterval(tick);
      document.removeEventListener('visibilitychange', watch);
      window.removeEventListener('pagehide', drop);
    };
  }, [shown, drop]);
  const show = (value: string) => {
    // The answer came after the person had left.
    if (document.hidden || !box.current) return;
    held.current = value;
    setLeftSec(SHOWN_SEC);
    setShown(true);
  };
  const hide = (back: { current: HTMLElement | null }) => {
    drop();
    requestAnimationFrame(() => back.current?.focus());
  };
  return { box, shown, left_sec, show, hide, copy: () => copySecret(held.current, CLIPBOARD_MS) };
}

function CopySecret({ copy, label }: { copy: () => Promise<void>; label: string }) {
  const [said, setSaid] = useState('');
  const press = () =>
    void copy().then(
      () => setSaid(`Copied. The clipboard is cleared in ${CLIPBOARD_MS / 1000} s.`),
      () => setSaid('Couldn’t copy. Select the text and copy it manually.'),
    );
  return (
    <>
      <Button size="sm" onClick={press}>
        Copy<span className="sr-only"> {label}</span>
      </Button>
      <span role="status" className="order-last w-full text-ink-3 text-xs empty:hidden">
        {said}
      </span>
    </>
  );
}

function Refused(props: { refusal: RevealRefusal; wait: number; busy: boolean; onReason: (reason: string) => void }) {
  const { refusal, wait, busy, onReason } = props;
  const here = usePathname();
  const problem = revealProblem(refusal, `/${here.split('/')[1] ?? ''}/settings`);
  if (refusal.code === 'reveal_reason_required') return <ReasonForm busy={busy} hint={problem.next} onReason={onReason} />;
  const back = problem.href?.path === '/me/security' ? `?next=${encodeURIComponent(here)}` : '';
  return (
    <Callout
      tone="warn"
      title={problem.title}
      requestId={refusal.request_id || undefined}
      actions={
        problem.href && (
          <LinkButton size="sm" href={`${problem.href.path}${back}`}>
            {problem.href.label}
          </LinkButton>
        )
      }
    >
      {refusal.code === 'reveal_budget_exceeded' && wait > 0 ? `You can reveal again in ${counted(wait, 'second')}.` : problem.next}
    </Callout>
  );
}

function ReasonForm({ busy, hint, onReason }: { busy: boolean; hint: string; onReason: (reason: string) => void }) {
  const [reason, setReason] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    if (reason.trim() !== '') onReason(reason.trim());
  };
  return (
    <form onSubmit={submit} className="flex max-w-md flex-col gap-2">
      <Field label="Reason" required hint={hint}>
        <Input
          value={reason}
          maxLength={500}
          placeholder="Ticket or incident"
          onChange={(event) => setReason(event.target.value)}
          autoFocus
        />
      </Field>
      <div>
        <Button type="submit" size="sm" loading={busy} disabledReason={reason.trim() === '' ? 'Enter a reason first' : undefined}>
          Reveal
        </Button>
      </div>
    </form>
  );
}

/** Whole seconds until a wait is over, counted down; 0 without one. */
function useCountdown(seconds: number | undefined): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    if (seconds === undefined) return setLeft(0);
    const until = Date.now() + seconds * 1000;
    const tick = () => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1000)));
    tick();
    const timer = setInterval(tick, 500);
    return () => clearInterval(timer);
  }, [seconds]);
  return left;
}

const LOST: RevealRefusal = {
  code: 'dependency_unavailable',
  message: 'Sallyport didn’t respond. Nothing was shown. Check your connection and try again.',
};

function refusalIn(error: unknown): RevealRefusal {
  const data = (error as { data?: Partial<RevealRefusal> | null } | null)?.data;
  return data?.code ? { ...data, code: data.code, message: data.message ?? '' } : LOST;
}
