import { nounOf } from '#components/shell/resources.ts';
import { Status } from '#components/ui/badge.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { type Item, noteOf, type Space, type Stage, spaceWord, stateOf } from './plan-text.ts';

const column = columnsFor<Item>();

/** One line of a plan for a space. The note stands under the name where a phone has no room for its column. */
export const planColumns = (to: Space, stage: Stage) => [
  column.accessor('name', {
    header: 'Name',
    cell: ({ row: { original } }) => (
      <span className="flex flex-col">
        <span className="whitespace-normal [overflow-wrap:anywhere]">{original.name}</span>
        <span className="text-ink-3 text-xs sm:hidden">{nounOf(original.type)}</span>
        <span className="whitespace-normal text-ink-3 text-xs lg:hidden">{noteOf(original, { to }, stage)}</span>
      </span>
    ),
  }),
  column.accessor('type', {
    header: 'Type',
    meta: { hideBelow: 'sm', width: '7rem' },
    cell: ({ getValue }) => capitalize(nounOf(getValue())),
  }),
  column.accessor('action', {
    header: `In ${spaceWord(to)}`,
    meta: { width: '9rem' },
    cell: ({ row: { original } }) => {
      const { state, text } = stateOf(original, stage);
      return <Status state={state}>{text}</Status>;
    },
  }),
  column.display({
    id: 'note',
    header: 'Notes',
    meta: { hideBelow: 'lg', width: '50%' },
    cell: ({ row: { original } }) => <span className="whitespace-normal text-ink-2">{noteOf(original, { to }, stage)}</span>,
  }),
];
