import { ApiProperty } from '@nestjs/swagger';
import type { TurnView } from '@palimpsest/application';

export class UsageBody implements Readonly<TurnView['usage']> {
  @ApiProperty({ type: 'integer' }) readonly inputTokens!: number;
  @ApiProperty({ type: 'integer' }) readonly cachedInputTokens!: number;
  @ApiProperty({ type: 'integer' }) readonly outputTokens!: number;
}
