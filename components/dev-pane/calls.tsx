'use client';

import { useListedOperations } from '#components/trpc/listed-operations.ts';
import { QueryError } from '#components/trpc/query-error.tsx';
import type { RecordedCall } from '#components/trpc/recorder.ts';
import { CallDetails } from './call-details.tsx';
import { CallLine } from './call-line.tsx';
import { describeCall } from './describe-call.ts';

export type CallsProps = {
  calls: readonly RecordedCall[];
  /** Why there are none. */
  none: string;
  /** The key of the one that is open. */
  chosen: string | undefined;
  onChoose: (key: string | undefined) => void;
};

/** Calls, and the chosen one of them beside the list or, on a phone, below its line. */
export function Calls({ calls, none, chosen, onChoose }: CallsProps) {
  const operations = useListedOperations();
  if (operations.error && !operations.data)
    return (
      <div className="overflow-y-auto p-4">
        <QueryError query={operations} what="API operations" />
      </div>
    );
  const table = operations.data ?? [];
  const open = calls.find(({ key }) => key === chosen);
  return (
    <div className="min-h-0 flex-1 max-md:overflow-y-auto md:grid md:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
      {/* biome-ignore lint/a11y/useSemanticElements: a section would add a landmark inside a landmark. */}
      <div role="group" aria-label="Calls, newest first" className="min-h-0 border-line md:overflow-y-auto md:border-r">
        {calls.length === 0 && <p className="px-5 py-6 text-ink-3 text-sm">{none}</p>}
        <ul>
          {calls.map((call) => (
            <li key={call.key}>
              <CallLine
                call={call}
                line={describeCall(call, table)}
                open={call.key === open?.key}
                onOpen={() => onChoose(call.key === open?.key ? undefined : call.key)}
              />
              {call.key === open?.key && (
                <div className="border-line border-b md:hidden">
                  <CallDetails call={call} line={describeCall(call, table)} />
                </div>
              )}
            </li>
          ))}
        </ul>
      </div>
      <div className="min-h-0 overflow-y-auto max-md:hidden">
        {open ? (
          <CallDetails call={open} line={describeCall(open, table)} />
        ) : (
          <p className="px-5 py-6 text-ink-3 text-sm">
            Select a call to view it as code, open it in the API explorer, or find its audit entries.
          </p>
        )}
      </div>
    </div>
  );
}
