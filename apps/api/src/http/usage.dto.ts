import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { TurnView } from '@palimpsest/application';

export class UsageBody implements Readonly<TurnView['usage']> {
  @ApiProperty({ type: 'integer' }) readonly inputTokens!: number;
  @ApiProperty({ type: 'integer' }) readonly cachedInputTokens!: number;
  @ApiPropertyOptional({ type: 'integer', description: 'Of the input: put into the provider’s cache' })
  readonly cacheWriteTokens?: number;
  @ApiProperty({ type: 'integer' }) readonly outputTokens!: number;
}
