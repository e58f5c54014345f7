import { counted } from './counted';

it('counts one in the singular, and none and many in the plural', () => {
  expect([0, 1, 1200, 1n].map((count) => counted(count, 'event'))).toEqual([
    ...['0 events', '1 event', '1,200 events', '1 event'],
  ]);
});
