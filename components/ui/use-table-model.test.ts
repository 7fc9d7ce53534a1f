import assert from 'node:assert/strict';
import test from 'node:test';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { columnsFor } from './table-columns.ts';
import { type SelectionEvent, type Sort, type TableModel, type TableModelProps, useTableModel } from './use-table-model.ts';

type Person = { id: string; name: string; age: number };
const column = columnsFor<Person>();
const columns = [
  column.accessor('name', { header: 'Name', enableSorting: true }),
  column.accessor('age', { header: 'Age' }),
  column.display({ id: 'note', header: 'Note', cell: ({ row }) => `${row.original.name}!` }),
];
const rows = ['ann', 'bob', 'cyd', 'dee'].map((name, age) => ({ id: name, name, age }));

/** The model as one render of a page makes it. */
function model(props: Partial<TableModelProps<Person>> = {}): TableModel<Person> {
  let made: TableModel<Person> | undefined;
  const Page = () => {
    made = useTableModel<Person>({ columns, rows, rowId: (row) => row.id, ...props });
    return null;
  };
  renderToString(createElement(Page));
  assert.ok(made);
  return made;
}

const click = { persist: () => undefined };

test('a sortable header sorts descending first, then the other way; the rows stay as the server ordered them', () => {
  const asked: Sort[] = [];
  const press = (sort?: Sort) =>
    model({ sort, onSort: (next) => asked.push(next) })
      .getColumn('name')
      ?.getToggleSortingHandler()?.(click);
  press();
  press({ sort: 'name', order: 'desc' });
  press({ sort: 'name', order: 'asc' });
  assert.deepEqual(
    asked.map(({ sort, order }) => `${sort} ${order}`),
    ['name desc', 'name asc', 'name desc'],
  );
  const sorted = model({ sort: { sort: 'name', order: 'desc' }, onSort: () => undefined });
  assert.equal(sorted.getColumn('name')?.getIsSorted(), 'desc');
  assert.deepEqual(
    sorted.getRowModel().rows.map((row) => row.id),
    ['ann', 'bob', 'cyd', 'dee'],
  );
  assert.deepEqual(
    columns.map((_, i) => sorted.getAllColumns()[i]?.getCanSort()),
    [true, false, false],
  );
  assert.equal(model().getColumn('name')?.getCanSort(), false, 'without a list that sorts');
});

test('columns can be left out, but not the first, and a list may be sorted by one that is not shown', () => {
  const table = model({
    hiddenColumns: new Set(['name', 'age', 'gone']),
    sort: { sort: 'elsewhere', order: 'asc' },
    onSort: () => undefined,
  });
  assert.deepEqual(
    table.getHeaderGroups()[0]?.headers.map(({ id }) => id),
    ['name', 'note'],
  );
  assert.deepEqual(
    table
      .getRow('bob')
      .getVisibleCells()
      .map((cell) => cell.getValue()),
    ['bob', undefined],
  );
});

test('rows are selected one by one, as a range from the last one, and all of the page, beside those of other pages', () => {
  let selected: ReadonlySet<string> = new Set(['of another page']);
  const table = () => model({ selection: { selected, onChange: (next) => (selected = next) } });
  assert.deepEqual([table().getIsAllRowsSelected(), table().getRow('ann').getIsSelected()], [false, false]);
  table().toggleAllRowsSelected(true);
  assert.deepEqual([...selected], ['of another page', 'ann', 'bob', 'cyd', 'dee']);
  assert.equal(table().getIsAllRowsSelected(), true);
  table().toggleAllRowsSelected(false);
  assert.deepEqual([...selected], ['of another page']);

  // One model for both, as in a page: it remembers the row that was selected last.
  const one = table();
  const press = (id: string, event: SelectionEvent) => one.getRow(id).getToggleSelectedHandler()(event);
  press('bob', { target: { checked: true }, range: false });
  assert.deepEqual([...selected], ['of another page', 'bob']);
  press('dee', { target: { checked: true }, range: true });
  assert.ok(selected.has('cyd') && selected.has('dee') && !selected.has('ann'));
});

test('without a selection no row can be selected', () => {
  const table = model();
  assert.equal(table.getRow('ann').getCanSelect(), false);
  table.getRow('ann').getToggleSelectedHandler()({ target: { checked: true }, range: false });
});

test('without rows yet the model is empty', () => {
  assert.deepEqual(model({ rows: undefined }).getRowModel().rows, []);
});
