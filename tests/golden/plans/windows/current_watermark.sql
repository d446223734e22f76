INSERT INTO users_copy SELECT user_id, 1 FROM (SELECT user_id, viewtime FROM pageviews WHERE page_id > 0)
  WHERE CURRENT_WATERMARK(viewtime) IS NULL OR viewtime > CURRENT_WATERMARK(viewtime);
