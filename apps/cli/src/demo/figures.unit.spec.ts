import { figuresIn } from './figures';

it('reads the same figures from a tool’s result and from an answer', () => {
  const result = 'name,sales\nHanbyeol Electronics,280358.40\nA, B and Sons,12.00\n(2 rows)';
  const answer = 'The largest customers in May 2026:\n1. Hanbyeol Electronics — 280358.40\n2. A, B and Sons — 12.00';
  const figures = [
    { customer: 'Hanbyeol Electronics', sales: '280358.40' },
    { customer: 'A, B and Sons', sales: '12.00' },
  ];
  expect(figuresIn(result)).toEqual(figures);
  expect(figuresIn(answer)).toEqual(figures);
});

it('takes no other line for a figure', () => {
  expect(figuresIn('\nname,sales\n(10 rows)\n2026-05-01\nIt was 12.00 more.\n3,4.00')).toEqual([]);
});
