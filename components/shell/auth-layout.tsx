import { ArrowDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { Wordmark } from './mark.tsx';

export type AuthLayoutProps = {
  title: ReactNode;
  description?: ReactNode;
  children: ReactNode;
  /** Under the form: the way to the other page ("No account yet? Sign up"). */
  footer?: ReactNode;
};

/** Sign-in, sign-up, recovery, invitations: the form on the left, what the product does on the right where there is room. */
export function AuthLayout({ title, description, children, footer }: AuthLayoutProps) {
  return (
    <div className="grid min-h-dvh lg:grid-cols-[minmax(0,1fr)_minmax(0,1.05fr)]">
      <link rel="icon" type="image/svg+xml" href="/icon.svg" />
      <div className="flex flex-col px-5 py-6 sm:px-10">
        <header>
          <Wordmark />
        </header>
        <main className="mx-auto flex w-full max-w-sm flex-1 flex-col justify-center py-12">
          <h1 className="font-semibold text-2xl">{title}</h1>
          {description && <p className="mt-1.5 text-ink-2">{description}</p>}
          <div className="mt-7">{children}</div>
          {footer && <div className="mt-6 text-ink-2">{footer}</div>}
        </main>
      </div>
      <aside
        aria-label="What Sallyport does"
        className="hidden border-line border-l bg-surface lg:flex lg:items-center lg:justify-center lg:p-12"
      >
        <Passage />
      </aside>
    </div>
  );
}

/** One call on its way through the gate: what the caller sends, what is checked, what the upstream receives. */
function Passage() {
  return (
    <div className="w-full max-w-lg">
      <p className="max-w-md text-balance font-semibold text-xl leading-snug tracking-tight">
        Your code never holds the key. The gateway injects it.
      </p>
      <div className="mt-8 flex flex-col">
        <Stop
          name="Your code sends"
          lines={[
            ['POST', '/payments/v1/charges'],
            ['X-Svc-Key', 'tk_live_9f…'],
          ]}
        />
        <Way />
        <div className="rounded-lg border border-accent-line bg-accent-soft px-4 py-3">
          <p className="font-medium text-accent-ink text-xs">Sallyport checks and injects</p>
          <ul className="mt-1.5 grid grid-cols-2 gap-x-4 gap-y-1 text-ink-2 text-xs">
            <li>Caller allowed</li>
            <li>Within rate limits</li>
            <li>Secret resolved for production</li>
            <li>Request logged</li>
          </ul>
        </div>
        <Way />
        <Stop
          name="Upstream receives"
          lines={[
            ['POST', '/v1/charges'],
            ['Authorization', 'Bearer ••••••••••••'],
          ]}
        />
      </div>
    </div>
  );
}

function Stop({ name, lines }: { name: string; lines: [key: string, value: string][] }) {
  return (
    <div className="rounded-lg border border-line-strong bg-canvas px-4 py-3">
      <p className="font-medium text-ink-3 text-xs">{name}</p>
      <dl className="mt-1.5 font-mono text-xs leading-5">
        {lines.map(([key, value]) => (
          <div key={key} className="flex gap-3">
            <dt className="w-28 shrink-0 text-(--code-key)">{key}</dt>
            <dd className="truncate text-ink-2">{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

const Way = () => <ArrowDown aria-hidden className="mx-auto my-2 size-4 text-ink-3" />;
